"""The engine: exact scores of all candidate subsets of a round at the price of a few products."""
