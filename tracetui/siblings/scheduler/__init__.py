"""What the kernel's scheduler did, as tracefs, trace-cmd, perf and MindStudio Insight write it down."""
