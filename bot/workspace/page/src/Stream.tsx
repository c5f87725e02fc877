// A column of messages that follows its end unless the reader has scrolled up.
import { type ReactNode, useLayoutEffect, useRef } from "react";

const NEAR_PX = 120;

export function Stream({ label, change, children }: { label: string; change: unknown; children: ReactNode }) {
  const column = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  useLayoutEffect(() => {
    const here = column.current;
    if (here && isNear.current) here.scrollTop = here.scrollHeight;
  }, [change]);
  const note = () => {
    const here = column.current;
    if (here) isNear.current = here.scrollHeight - here.scrollTop - here.clientHeight < NEAR_PX;
  };
  return (
    <div className="stream" role="log" aria-label={label} ref={column} onScroll={note} tabIndex={0}>
      <div className="stream-inner">{children}</div>
    </div>
  );
}
