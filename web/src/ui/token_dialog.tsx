// token_dialog.tsx - asks for the token when the server wants one.

import { useEffect, useRef } from "preact/hooks";
import { giveToken, token, tokenWanted } from "../data/token";

export function TokenDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const wanted = tokenWanted.value;

  useEffect(() => {
    if (wanted && !dialog.current?.open) dialog.current?.showModal();
    if (!wanted) dialog.current?.close();
  }, [wanted]);

  const submit = (event: Event) => {
    event.preventDefault();
    const value = field.current?.value.trim() ?? "";
    if (value) giveToken(value);
  };

  return (
    <dialog ref={dialog} class="token" aria-labelledby="token-title">
      <form onSubmit={submit}>
        <h2 id="token-title">This server wants a token</h2>
        <p>
          {token.value
            ? "The one that was given is not right."
            : "It is the line in the file that the server was started with, --token-file."}
        </p>
        <label>
          <span class="unseen">Token</span>
          <input ref={field} type="password" autoComplete="off" spellcheck={false} required />
        </label>
        <p class="fine">Kept in this tab until it is closed.</p>
        <button type="submit" class="button">
          Continue
        </button>
      </form>
    </dialog>
  );
}
