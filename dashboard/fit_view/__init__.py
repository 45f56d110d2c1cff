"""Plain tables of one fit, for screens, charts and reports; no Streamlit."""
