// Where people write. Enter sends, Shift+Enter makes a new line.
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";

interface Props {
  label: string;
  mention?: string;
  suggestion?: string;
  onSend: (text: string) => Promise<void>;
}

export function Composer({ label, mention, suggestion, onSend }: Props) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const here = box.current;
    if (!here) return;
    here.style.height = "auto";
    here.style.height = `${Math.min(here.scrollHeight, 180)}px`;
  }, [text]);
  const send = async () => {
    if (!text.trim()) return;
    setText("");
    setProblem("");
    try {
      await onSend(text);
    } catch (error) {
      setText(text);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const put = (words: string) => {
    setText(words);
    box.current?.focus();
  };
  const called = mention ? `@${mention} ` : "";
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {suggestion && !text && (
        <button type="button" className="chip" onClick={() => put(called + suggestion)}>
          <span>Try</span> {suggestion}
        </button>
      )}
      {problem && <p role="alert" className="problem">Not sent: {problem}</p>}
      <div className="composer-box">
        <textarea
          ref={box}
          rows={1}
          aria-label={label}
          placeholder={label}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKey}
        />
        <div className="composer-row">
          {mention && (
            <button
              type="button"
              className="mention"
              aria-label={`Mention ${mention}`}
              onClick={() => put(text.includes(called) ? text : called + text)}
            >
              @{mention}
            </button>
          )}
          <span className="hint">Enter to send</span>
          <button type="submit" className="send" aria-label="Send" disabled={!text.trim()}>
            <svg viewBox="0 0 20 20" width="16" height="16" fill="currentColor" aria-hidden="true">
              <path d="M2.500 17.500 18 10 2.500 2.500v5.800L12 10l-9.500 1.700z" />
            </svg>
          </button>
        </div>
      </div>
    </form>
  );
}
