"""The memory of devices: how much, who allocated it, and what is never given back."""
