"""Generated profiles of MindSpore: a raw export of msprof in graph mode, and a trace of PyNative mode."""
