// app.tsx - the frame of the page: a header with the state, tabs for the views, and one view.

import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { short } from "./text/visible";
import { ErrorBoundary } from "./ui/error_boundary";
import { Header } from "./ui/header";
import { NotSaved } from "./ui/notice";
import { type View, VIEWS, route } from "./ui/route";
import { TokenDialog } from "./ui/token_dialog";
import { DriftView } from "./views/movers/drift";
import { LiveView } from "./views/live/live";
import { MapView } from "./views/map/map";
import { SendView } from "./views/send/send";
import { TrendsView } from "./views/movers/trends";
import { WordView } from "./views/word/word";

const VIEW_COMPONENTS: Record<View, { title: string; view: ComponentType }> = {
  live: { title: "Live", view: LiveView },
  word: { title: "Word", view: WordView },
  map: { title: "Map", view: MapView },
  trends: { title: "Trends", view: TrendsView },
  drift: { title: "Drift", view: DriftView },
  send: { title: "Send text", view: SendView },
};

export function App() {
  const { view, word } = route.value;
  const { title, view: Shown } = VIEW_COMPONENTS[view];
  const main = useRef<HTMLElement>(null);
  const firstRender = useRef(true);

  useEffect(() => {
    document.title = `${word ? short(word) : title} \u00b7 wordtide`;
    if (firstRender.current) firstRender.current = false;
    else scrollTo(0, 0);
  }, [view, word]);

  return (
    <>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        main.current?.focus();
      }}>
        Skip to content
      </a>
      <Header tabs={VIEWS.map((name) => ({ view: name, title: VIEW_COMPONENTS[name].title }))} />
      <main ref={main} id="main" class={`view-${view}`} tabIndex={-1}>
        <h1 class="visually-hidden">{title}</h1>
        <NotSaved />
        <ErrorBoundary key={view}>
          <Shown />
        </ErrorBoundary>
      </main>
      <footer class="foot">
        <a href="openapi.yaml">HTTP API</a>
      </footer>
      <TokenDialog />
    </>
  );
}
