"""The tables of the product, a module each: what their columns are called, hold and how they are written.

JSON, csv, DataFrames, text, Markdown and the viewer's tables are made of these. Knows no pandas, no terminal.
"""
