// The few emoji the bot uses, as plain coloured signs: a machine may have no emoji font.
import type { ReactNode } from "react";

const SIGNS: Record<string, [sign: string, colour: string]> = {
  white_check_mark: ["✔", "#14784f"],
  x: ["✖", "#c0202f"],
  no_entry: ["⊘", "#c0202f"],
  warning: ["⚠", "#b26a00"],
  information_source: ["ℹ", "#1f5f8b"],
  hourglass_flowing_sand: ["◔", "#1f5f8b"],
  white_circle: ["○", "#616061"],
  repeat: ["↻", "#1f5f8b"],
};

type Emoji = { name: string };

/** An emoji as the page draws it, or as the library would. */
export function drawEmoji<E extends Emoji>(data: E, otherwise: (data: E) => ReactNode): ReactNode {
  // A time of day such as 22:28:25 holds no emoji.
  if (/^\d+$/.test(data.name)) return `:${data.name}:`;
  const known = SIGNS[data.name];
  if (!known) return otherwise(data);
  const [sign, colour] = known;
  return (
    <span role="img" aria-label={data.name.replaceAll("_", " ")} style={{ color: colour }}>
      {`${sign}\u{fe0e}`}
    </span>
  );
}
