// One message: who, when, and its blocks as Slack draws them.
import { memo, type MouseEvent } from "react";
import { Message as Blocks, type Block } from "slack-blocks-to-jsx";
import { drawEmoji } from "./emoji";
import { type Message, personOf, timeOf, type World } from "./model";

interface Confirm {
  title?: { text?: string };
  text?: { text?: string };
}

interface Pressable {
  action_id?: string;
  confirm?: Confirm;
}

interface Pressables {
  elements?: Pressable[];
  accessory?: Pressable;
}

interface Props {
  world: World;
  message: Message;
  replies?: Message[];
  onOpen?: () => void;
  onPress: (message: Message, action: string) => void;
}

function pressables(blocks: Block[]): Pressable[] {
  return (blocks as Pressables[]).flatMap((block) => [
    ...(block.elements ?? []),
    ...(block.accessory ? [block.accessory] : []),
  ]);
}

/** The blocks to draw; the question before a button is asked by the page itself. */
function drawn(message: Message): Block[] {
  const text = { type: "mrkdwn", text: message.text };
  const blocks = message.blocks ?? [{ type: "section", text } as Block];
  return JSON.parse(
    JSON.stringify(blocks, (key, value: unknown) => (key === "confirm" ? undefined : value)),
  ) as Block[];
}

const clock = (ts: string) =>
  timeOf(ts).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

export const Bubble = memo(function Bubble({ world, message, replies, onOpen, onPress }: Props) {
  const author = personOf(world, message.user);
  const press = (event: MouseEvent) => {
    const button = (event.target as Element).closest("button");
    const found = pressables(message.blocks ?? []).find(
      (each) => each.action_id !== undefined && each.action_id === button?.id,
    );
    if (!found?.action_id) return;
    const { confirm } = found;
    const question = [confirm?.title?.text, confirm?.text?.text].filter(Boolean).join("\n\n");
    if (!confirm || window.confirm(question)) onPress(message, found.action_id);
  };
  const last = replies?.at(-1);
  return (
    <article className="bubble" aria-label={`${author.name}: ${message.text.slice(0, 80)}`}>
      <div className={`avatar ${author.isBot ? "avatar-bot" : `avatar-${author.id}`}`} aria-hidden="true">
        {author.id === world.bot ? <Lantern /> : author.name.slice(0, 1)}
      </div>
      <div className="bubble-body">
        <header>
          <b>{author.name}</b>
          {author.isBot && <span className="badge">APP</span>}
          <time dateTime={timeOf(message.ts).toISOString()}>{clock(message.ts)}</time>
        </header>
        {message.only_for && <p className="only-you">Only visible to you</p>}
        <div className="blocks" onClick={press}>
          <Blocks
            withoutWrapper
            theme="light"
            name={author.name}
            logo=""
            blocks={drawn(message)}
            hooks={{ emoji: drawEmoji }}
            data={{ users: world.people, channels: world.channels }}
          />
          {message.edited && !author.isBot && <span className="edited">(edited)</span>}
        </div>
        {onOpen && last && (
          <button type="button" className="replies" onClick={onOpen}>
            <b>{replies?.length === 1 ? "1 reply" : `${replies?.length} replies`}</b>
            <span>Last reply at {clock(last.ts)}</span>
          </button>
        )}
      </div>
      {onOpen && (
        <button type="button" className="open-thread" onClick={onOpen}>
          Reply in thread
        </button>
      )}
    </article>
  );
});

export function Lantern() {
  return (
    <svg viewBox="0 0 24 24" width="22" height="22" fill="none" stroke="currentColor" strokeWidth="1.7" strokeLinecap="round" strokeLinejoin="round">
      <path d="M9 4.5a3 3 0 0 1 6 0M7.5 7h9M8.5 7 7 18h10L15.500 7M6 20.500h12M12 10.500v0" />
      <path d="M12 10c1.600 1.700 1.800 2.600 1.800 3.400a1.800 1.800 0 0 1-3.600 0c0-.8.200-1.700 1.800-3.400Z" fill="currentColor" stroke="none" />
    </svg>
  );
}
