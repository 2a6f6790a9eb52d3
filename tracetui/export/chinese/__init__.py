"""All that people read, in Chinese, a table for each kind, in the words that users of Ascend use."""
