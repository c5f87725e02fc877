// The way to the server: live changes one way, what people do the other way.
import { useEffect, useReducer, useState } from "react";
import { apply, NOTHING, type Told, type World } from "./model";

const AGAIN_MS = 1000;

/** The workspace as the server tells it, and whether the line to it is open. */
export function useWorld(): { world: World; isLive: boolean } {
  const [world, tell] = useReducer((before: World, told: Told) => apply(before, told), NOTHING);
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    let socket: WebSocket | undefined;
    let timer: number | undefined;
    const open = () => {
      socket = new WebSocket(`ws://${window.location.host}/page/live`);
      socket.onopen = () => setLive(true);
      socket.onmessage = (event: MessageEvent<string>) => tell(JSON.parse(event.data) as Told);
      socket.onclose = () => {
        setLive(false);
        timer = window.setTimeout(open, AGAIN_MS);
      };
    };
    open();
    return () => {
      window.clearTimeout(timer);
      if (socket) socket.onclose = null;
      socket?.close();
    };
  }, []);
  return { world, isLive };
}

async function send(path: string, deed: Record<string, string>): Promise<Record<string, string>> {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(deed),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Record<string, string>;
}

/** Post a message; its ts. */
export async function post(as: string, channel: string, text: string, thread = ""): Promise<string> {
  return (await send("/page/post", { as, channel, text, thread_ts: thread })).ts ?? "";
}

/** Press a button. */
export async function click(as: string, channel: string, ts: string, action: string): Promise<void> {
  await send("/page/click", { as, channel, ts, action_id: action });
}
