"""The parts of the documents that are made of the code, and what makes them: python -m tools.documents"""
