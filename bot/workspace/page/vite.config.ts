import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Fixed names keep the built page comparable from one build to the next; the server sends it
// with no-store, so nothing stale is ever shown.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../static",
    emptyOutDir: true,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      output: {
        entryFileNames: "assets/page.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/page[extname]",
      },
    },
  },
});
