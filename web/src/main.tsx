// main.tsx - starts the page: theme, routing, server events, and rendering.

import { render } from "preact";
import { App } from "./app";
import { followEvents } from "./data/stream";
import { followAddress } from "./ui/route";
import { followTheme } from "./ui/theme";
import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/live.css";
import "./style/word.css";
import "./style/map.css";
import "./style/movers.css";
import "./style/send.css";

followTheme();
followAddress();
void followEvents();
const root = document.getElementById("page");
if (root) render(<App />, root);
