// header.tsx - name, tabs, what the server is doing, words so far, the theme.

import { state, stats } from "../data/live";
import { STATE_TEXT } from "../data/state";
import { Rolling } from "./rolling";
import { type View, route, routeTo } from "./route";
import { THEMES, chooseTheme, theme } from "./theme";

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 20" aria-hidden="true">
      <path d="M2 13c4.7 0 4.7-7 9.3-7s4.7 7 9.4 7S25.3 6 30 6" />
      <path class="mark-under" d="M2 18c4.7 0 4.7-3 9.3-3s4.7 3 9.4 3 4.6-3 9.3-3" />
    </svg>
  );
}

function ThemeSwitch() {
  const now = theme.value;
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? "system";
  const title = `Theme: ${now}. Change to ${next}`;
  return (
    <button
      type="button"
      class={`icon-button theme-${now}`}
      aria-label={title}
      title={title}
      onClick={() => chooseTheme(next)}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle class="theme-ring" cx="10" cy="10" r="6.5" />
        <path class="theme-half" d="M10 3.5a6.5 6.5 0 0 1 0 13z" />
        <circle class="theme-full" cx="10" cy="10" r="6.5" />
      </svg>
    </button>
  );
}

export function Header({ tabs }: { tabs: { view: View; title: string }[] }) {
  return (
    <header class="head">
      <a class="brand" href={routeTo("live")} aria-label="wordtide, live view">
        <Mark />
        <span>wordtide</span>
      </a>
      <nav class="tabs" aria-label="Views">
        {tabs.map(({ view, title }) => (
          <a
            key={view}
            href={routeTo(view)}
            aria-current={route.value.view === view ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <div class="status">
        <p class={`state state-${state.value}`} role="status">
          <i aria-hidden="true" />
          {STATE_TEXT[state.value]}
        </p>
        {stats.value && (
          <p class="word-count">
            <Rolling value={stats.value.tokens} /> <span>words</span>
          </p>
        )}
        <ThemeSwitch />
      </div>
    </header>
  );
}
