"""Causes and advice in Chinese, a table each, in the words that users of Ascend use."""
