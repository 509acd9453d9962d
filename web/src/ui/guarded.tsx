// guarded.tsx - keeps a mistake in one view from taking the page with it.

import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Notice } from "./notice";

export function Guarded({ children }: { children: ComponentChildren }) {
  const [error, again] = useErrorBoundary((problem: unknown) => console.error(problem));
  if (!error) return <>{children}</>;
  return (
    <Notice title="This view could not be drawn">
      The server may be of another version.{" "}
      <button type="button" class="button quiet" onClick={again}>
        Try again
      </button>
    </Notice>
  );
}
