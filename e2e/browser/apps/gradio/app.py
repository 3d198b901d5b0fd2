import gradio

gradio.Interface(fn=lambda name: f"Hello {name}!", inputs=gradio.Textbox(label="Name"), outputs="markdown", live=True).launch()
