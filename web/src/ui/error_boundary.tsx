// error_boundary.tsx - contains an error in one view, so that the rest of the page survives.

import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Notice } from "./notice";

export function ErrorBoundary({ children }: { children: ComponentChildren }) {
  const [error, retry] = useErrorBoundary((problem: unknown) => console.error(problem));
  if (!error) return <>{children}</>;
  return (
    <Notice title="This view could not be displayed">
      The server may have a different version.{" "}
      <button type="button" class="button quiet" onClick={retry}>
        Try again
      </button>
    </Notice>
  );
}
