import { createRoot } from "react-dom/client";
import "slack-blocks-to-jsx/dist/style.css";
import { App } from "./App";
import "./page.css";

// The token came in the address and is kept in a cookie now; it has no business in the history.
window.history.replaceState(null, "", "/");

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
