// Session events as JSON Schema (2020-12), for readers in other languages. Later versions may add fields.
import type { JsonObject } from '../json.ts'
import { SourcePart, StoredPart, Usage } from '../messages.ts'
import * as s from '../shape/shape.ts'
import { CallResult, CallView, EventCursor, EventError, EventPlace, EVENTS, MessageView } from './session-event.ts'

const OF_EVERY_EVENT = {
  cursor: s.named('cursor', EventCursor),
  at: s.optional(s.named('place', EventPlace)),
}

/** One session event. An unknown type is from a newer version. */
export const SESSION_EVENT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'SessionEvent',
  oneOf: Object.entries(EVENTS).map(([type, fields]) =>
    s.fields({ type: s.word(type), ...OF_EVERY_EVENT, ...fields }).describe(),
  ),
  $defs: {
    cursor: EventCursor.describe(),
    place: EventPlace.describe(),
    message: MessageView.describe(),
    part: StoredPart.describe(),
    call: CallView.describe(),
    result: CallResult.describe(),
    source: SourcePart.describe(),
    usage: Usage.describe(),
    error: EventError.describe(),
  },
}
