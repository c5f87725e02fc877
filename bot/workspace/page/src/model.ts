// What the server tells the page, and what follows from it.
import type { Block } from "slack-blocks-to-jsx";

export interface Person {
  id: string;
  name: string;
  title: string;
  isBot: boolean;
}

export interface Channel {
  id: string;
  name: string;
  isDirect: boolean;
  members: string[];
}

export interface Message {
  channel: string;
  ts: string;
  user: string;
  text: string;
  thread_ts?: string;
  only_for: string;
  blocks?: Block[];
  edited?: { user: string; ts: string };
}

export interface World {
  bot: string;
  notice: string;
  suggestion: string;
  people: Person[];
  channels: Channel[];
  messages: Message[];
  warning: string;
}

export type Told =
  | ({ kind: "snapshot" } & Omit<World, "warning">)
  | { kind: "posted" | "changed" | "deleted"; message: Message }
  | { kind: "warning"; text: string };

export const NOTHING: World = {
  bot: "",
  notice: "",
  suggestion: "",
  people: [],
  channels: [],
  messages: [],
  warning: "",
};

const isSame = (a: Message, b: Message) => a.channel === b.channel && a.ts === b.ts;

/** The world after the server told one more thing. */
export function apply(world: World, told: Told): World {
  if (told.kind === "snapshot") return { ...told, warning: "" };
  if (told.kind === "warning") return { ...world, warning: told.text };
  const others = world.messages.filter((each) => !isSame(each, told.message));
  if (told.kind === "deleted") return { ...world, messages: others };
  const messages = [...others, told.message].sort((a, b) => (a.ts < b.ts ? -1 : 1));
  const isFromBot = told.message.user === world.bot;
  return { ...world, messages, warning: isFromBot ? "" : world.warning };
}

/** The messages of a channel that this person can see. */
export function visible(world: World, channel: string, viewer: string): Message[] {
  return world.messages.filter(
    (each) => each.channel === channel && (each.only_for === "" || each.only_for === viewer),
  );
}

export function personOf(world: World, id: string): Person {
  return (
    world.people.find((each) => each.id === id) ?? { id, name: id, title: "", isBot: true }
  );
}

/** How a channel is called: `#ops`, or the app's name for a direct conversation. */
export function channelName(world: World, channel: Channel): string {
  return channel.isDirect ? personOf(world, world.bot).name : `#${channel.name}`;
}

export const timeOf = (ts: string) => new Date(Number(ts) * 1000);
