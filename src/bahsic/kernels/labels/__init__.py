"""Kernels on the labels: the choice by the type of y, several outputs, survival times."""
