// The pane beside the channel: one thread, and where to reply in it.
import { Bubble } from "./Bubble";
import { Composer } from "./Composer";
import { type Channel, channelName, type Message, type World } from "./model";
import { Stream } from "./Stream";

interface Props {
  world: World;
  channel: Channel;
  messages: Message[];
  onClose: () => void;
  onSend: (text: string) => Promise<void>;
  onPress: (message: Message, action: string) => void;
}

export function Thread({ world, channel, messages, onClose, onSend, onPress }: Props) {
  const count = messages.length - 1;
  return (
    <aside className="thread" aria-label="Thread">
      <header className="pane-head">
        <h2>Thread</h2>
        <span className="quiet">{channelName(world, channel)}</span>
        <button type="button" className="close" aria-label="Close thread" onClick={onClose}>
          ×
        </button>
      </header>
      <Stream label="Thread messages" change={messages}>
        {messages.map((message, place) => (
          <div key={message.ts}>
            <Bubble world={world} message={message} onPress={onPress} />
            {place === 0 && count > 0 && (
              <p className="rule">
                <span>{count === 1 ? "1 reply" : `${count} replies`}</span>
              </p>
            )}
          </div>
        ))}
      </Stream>
      <Composer label="Reply in thread" onSend={onSend} />
    </aside>
  );
}
