from bahsic.criteria.hsic import hsic_biased as hsic_biased
from bahsic.criteria.hsic import hsic_bound as hsic_bound
from bahsic.criteria.hsic import hsic_unbiased as hsic_unbiased
from bahsic.criteria.hsic import hsic_variance as hsic_variance
from bahsic.criteria.hsic import hsic_weights as hsic_weights
from bahsic.inference.conditional import ConditionalTest as ConditionalTest
from bahsic.inference.conditional import conditional_test as conditional_test
from bahsic.inference.dependence import hsic as hsic
from bahsic.inference.dependence import hsic_blocks as hsic_blocks
from bahsic.inference.independence import HypothesisTest as HypothesisTest
from bahsic.inference.independence import hsic_interval as hsic_interval
from bahsic.inference.independence import hsic_test as hsic_test
from bahsic.inference.predictability import Interaction as Interaction
from bahsic.inference.predictability import interactions as interactions
from bahsic.inference.predictability import predictability as predictability
from bahsic.inference.resampling import SelectionTest as SelectionTest
from bahsic.inference.resampling import selection_frequencies as selection_frequencies
from bahsic.inference.resampling import selection_test as selection_test
from bahsic.inference.scores import hsic_scores as hsic_scores
from bahsic.inference.scores import redundancy as redundancy
from bahsic.selection.crossvalidation import BAHSICCV as BAHSICCV
from bahsic.selection.selectors import BAHSIC as BAHSIC
from bahsic.selection.selectors import FOHSIC as FOHSIC
from bahsic.selection.selectors import FeatureSelector as FeatureSelector
from bahsic.versions import show_versions as show_versions

__version__: str
