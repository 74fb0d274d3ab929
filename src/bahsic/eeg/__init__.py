"""Selection of frequencies and channels of EEG, or of other multichannel signals (the paper's third experiment)."""

from bahsic.eeg.selectors import ChannelSelector, FrequencySelector
from bahsic.eeg.signals import band_hsic, power_spectra

__all__ = ["ChannelSelector", "FrequencySelector", "band_hsic", "power_spectra"]
