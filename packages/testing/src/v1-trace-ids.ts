// Ids in a trace: frames are numbered in the order in which they came and calls lose the part that names their session,
// so that a trace shows what came again and says nothing of how ids are made.

export interface TraceIds {
  /** A frame of the server, with short ids. */
  shorten(text: string): string
  /** A frame of an app that has the short ids, with those that the server knows. */
  lengthen(text: string): string
}

/** `convo.setState:4`; what follows the colon is the id of the call's frame. */
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
