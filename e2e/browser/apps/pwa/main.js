// A stock app with vite-plugin-pwa: its worker takes over all pages at once.
import { registerSW } from "virtual:pwa-register";

registerSW({ immediate: true });
