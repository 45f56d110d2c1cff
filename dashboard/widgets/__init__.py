"""Streamlit parts that more than one screen uses."""
