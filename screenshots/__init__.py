"""The documents' pictures and the script that takes them."""
