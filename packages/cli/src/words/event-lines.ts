// The events of a turn as lines of JSON, for programs (docs/events.md).
import type { EventBody } from '@baton/core/internal'
import { escapeControls } from '../terminal/escape-controls.ts'
import type { TurnDisplay } from '../terminal/turn-display.ts'

/** Writes control characters as escapes, which are the same text in JSON. */
export function createEventLines(write: (text: string) => void): TurnDisplay {
  return {
    show: (event: EventBody) => write(`${escapeControls(JSON.stringify(event))}\n`),
    restartClock: () => {},
  }
}
