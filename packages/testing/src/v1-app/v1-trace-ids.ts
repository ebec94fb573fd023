// Ids in a trace: frames are numbered in order of arrival, and call ids lose the part that names their session, so that
// a trace shows repeats and does not depend on how ids are made.

export interface TraceIds {
  /** Shortens the ids in a server frame. */
  shorten(text: string): string
  /** Replaces short ids in an app's frame with those the server knows. */
  lengthen(text: string): string
}

/** `convo.setState:4`; the call's frame id follows the colon. */
const DISPLAY_CALL = /"callId":"((?:convo|tts)\.\w+):([^"]+)"/g
/** `call_<session>_<step>_<number>`. */
const MODEL_CALL = /"callId":"call_(?:\w+_)?(\d+_\d+)"/g

export function createTraceIds(): TraceIds {
  const numbers = new Map<string, string>()
  const long = new Map<string, string>()
  const readNumber = (id: string): string => {
    const number = numbers.get(id) ?? String(numbers.size + 1)
    numbers.set(id, number)
    long.set(number, id)
    return number
  }
  const shortenCall = (whole: string, place: string): string => {
    const short = `"callId":"call_${place}"`
    long.set(short, whole)
    return short
  }
  return {
    shorten: (text) =>
      text
        .replace(/^\{"id":"([^"]+)"/, (_, id: string) => `{"id":"${readNumber(id)}"`)
        .replace(DISPLAY_CALL, (_, name: string, id: string) => `"callId":"${name}:${readNumber(id)}"`)
        .replace(MODEL_CALL, shortenCall),
    lengthen: (text) =>
      text
        .replace(DISPLAY_CALL, (_, name: string, id: string) => `"callId":"${name}:${long.get(id) ?? id}"`)
        .replace(MODEL_CALL, (short) => long.get(short) ?? short),
  }
}
