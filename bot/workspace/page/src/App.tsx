// The whole page: title bar, channels, one channel's messages, one thread.
import { useMemo, useState } from "react";
import { Bubble, Lantern } from "./Bubble";
import { Composer } from "./Composer";
import { type Channel, channelName, type Message, personOf, visible, type World } from "./model";
import { click, post, useWorld } from "./server";
import { Stream } from "./Stream";
import { Thread } from "./Thread";

export function App() {
  const { world, isLive } = useWorld();
  const [chosenPerson, setPerson] = useState("");
  const [chosenChannel, setChannel] = useState("");
  const [thread, setThread] = useState("");
  const [problem, setProblem] = useState("");
  const humans = world.people.filter((each) => !each.isBot);
  const viewer = chosenPerson || (humans[0]?.id ?? "");
  const channels = world.channels.filter((each) => each.members.includes(viewer));
  const channel = channels.find((each) => each.id === chosenChannel) ?? channels[0];
  const messages = useMemo(
    () => (channel ? visible(world, channel.id, viewer) : []),
    [world, channel, viewer],
  );
  const inThread = useMemo(
    () => messages.filter((each) => (each.thread_ts ?? each.ts) === thread),
    [messages, thread],
  );
  const go = (id: string) => {
    setChannel(id);
    setThread("");
  };
  const press = (message: Message, action: string) => {
    setProblem("");
    click(viewer, message.channel, message.ts, action).catch((error: Error) => setProblem(error.message));
  };
  const ask = async (text: string) => {
    if (!channel) return;
    const ts = await post(viewer, channel.id, text);
    const name = `@${personOf(world, world.bot).name}`.toLowerCase();
    if (channel.isDirect || text.toLowerCase().includes(name)) setThread(ts);
  };
  const notice = problem || world.warning || world.notice;
  return (
    <div className="page">
      <header className="title-bar">
        <Lantern />
        <h1>Watchkeeper — local workspace (demo)</h1>
        <label>
          Act as
          <select value={viewer} onChange={(event) => setPerson(event.target.value)}>
            {humans.map((each) => (
              <option key={each.id} value={each.id}>
                {each.title ? `${each.name} · ${each.title}` : each.name}
              </option>
            ))}
          </select>
        </label>
      </header>
      {notice && (
        <p className="notice" role="status">
          {notice}
        </p>
      )}
      {!isLive && world.people.length > 0 && (
        <p className="notice notice-bad" role="alert">
          The line to the workspace is broken. Trying again…
        </p>
      )}
      <div className={inThread.length > 0 ? "columns with-thread" : "columns"}>
        <Sidebar world={world} channels={channels} current={channel?.id ?? ""} onGo={go} />
        {channel && (
          <ChannelPane
            key={channel.id}
            world={world}
            channel={channel}
            messages={messages}
            onOpen={setThread}
            onPress={press}
            onSend={ask}
          />
        )}
        {channel && inThread.length > 0 && (
          <Thread
            key={thread}
            world={world}
            channel={channel}
            messages={inThread}
            onClose={() => setThread("")}
            onSend={async (text) => void (await post(viewer, channel.id, text, thread))}
            onPress={press}
          />
        )}
      </div>
    </div>
  );
}

interface SidebarProps {
  world: World;
  channels: Channel[];
  current: string;
  onGo: (id: string) => void;
}

function Sidebar({ world, channels, current, onGo }: SidebarProps) {
  const group = (label: string, isDirect: boolean) => (
    <section aria-label={label}>
      <h2>{label}</h2>
      <ul>
        {channels
          .filter((each) => each.isDirect === isDirect)
          .map((each) => (
            <li key={each.id}>
              <button type="button" aria-current={each.id === current ? "page" : undefined} onClick={() => onGo(each.id)}>
                {channelName(world, each)}
              </button>
            </li>
          ))}
      </ul>
    </section>
  );
  return (
    <nav className="sidebar" aria-label="Channels">
      {group("Channels", false)}
      {group("Direct messages", true)}
    </nav>
  );
}

interface ChannelProps {
  world: World;
  channel: Channel;
  messages: Message[];
  onOpen: (ts: string) => void;
  onPress: (message: Message, action: string) => void;
  onSend: (text: string) => Promise<void>;
}

function ChannelPane({ world, channel, messages, onOpen, onPress, onSend }: ChannelProps) {
  const name = channelName(world, channel);
  const tops = messages.filter((each) => !each.thread_ts);
  const isAsked = world.messages.some((each) => each.text.endsWith(world.suggestion) && !personOf(world, each.user).isBot);
  return (
    <main className="channel" aria-label={name}>
      <header className="pane-head">
        <h2>{name}</h2>
      </header>
      <Stream label={`Messages in ${name}`} change={tops.length}>
        {tops.length === 0 && <p className="empty">Nothing here yet. Write the first message.</p>}
        {tops.map((message) => (
          <Bubble
            key={message.ts}
            world={world}
            message={message}
            replies={messages.filter((each) => each.thread_ts === message.ts)}
            onOpen={() => onOpen(message.ts)}
            onPress={onPress}
          />
        ))}
      </Stream>
      <Composer
        label={`Message ${name}`}
        mention={channel.isDirect ? undefined : personOf(world, world.bot).name}
        suggestion={isAsked ? "" : world.suggestion}
        onSend={onSend}
      />
    </main>
  );
}
