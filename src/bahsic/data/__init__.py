"""From the user's X to the columns that kernels work on."""
