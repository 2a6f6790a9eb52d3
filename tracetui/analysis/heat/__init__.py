"""Heat maps: who works while a device is idle, when in a step it is idle, in gaps of which length, and why.

Each module has one map: it knows the rows, and gives exact ns for cells of time of any width.
"""
