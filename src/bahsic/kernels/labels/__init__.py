"""Kernels on the labels: the choice by their type, several outputs, survival times.

Used through `bahsic.kernels.label_kernel`.
"""
