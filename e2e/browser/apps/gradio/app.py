import gradio

gradio.Interface(fn=lambda name: f"Hello {name}!", inputs=gradio.Textbox(label="Name"), outputs="text", live=True).launch()
