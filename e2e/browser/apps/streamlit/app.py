import streamlit

name = streamlit.text_input("Name")
streamlit.write(f"Hello {name}!")
