document.querySelector("p").textContent = "Hello !";
