// Finds where the events of an answer end in the bytes of a connection: server-sent events over HTTP, or WebSocket
// frames. It supports only what a chat server writes: no compression, no fragmented frames.

const LINE_FEED = 10
const DATA = 'data: '
const HEAD_END = '\r\n\r\n'
const TEXT_FRAME = 1

export interface WrittenEvents {
  /** The offsets in the next bytes at which an event is complete, in ascending order. */
  read(bytes: Uint8Array): readonly number[]
}

/** Creates the reader of one connection. */
export function createWrittenEvents(): WrittenEvents {
  const lines = createDataLines()
  const frames = createFrames()
  let isSocket: boolean | undefined
  return {
    read: (bytes) => {
      isSocket ??= Buffer.from(bytes.subarray(0, 12)).toString('latin1') === 'HTTP/1.1 101'
      return (isSocket ? frames : lines).read(bytes)
    },
  }
}

/** An event is a data line and an empty line. */
function createDataLines(): WrittenEvents {
  let line = ''
  let hasData = false
  return {
    read: (bytes) => {
      const ends: number[] = []
      bytes.forEach((byte, index) => {
        if (byte !== LINE_FEED) {
          if (line.length < DATA.length) line += String.fromCharCode(byte)
          return
        }
        if (line === '' && hasData) ends.push(index + 1)
        hasData = line === DATA
        line = ''
      })
      return ends
    },
  }
}

function createFrames(): WrittenEvents {
  let isOpen = false
  let rest = Buffer.alloc(0)
  return {
    read: (bytes) => {
      const before = rest.length
      const all = Buffer.concat([rest, bytes])
      let from = 0
      if (!isOpen) {
        const head = all.indexOf(HEAD_END)
        isOpen = head >= 0
        from = isOpen ? head + HEAD_END.length : 0
      }
      const ends: number[] = []
      for (let end = isOpen ? findFrameEnd(all, from) : undefined; end !== undefined; end = findFrameEnd(all, from)) {
        if (((all[from] ?? 0) & 0x0f) === TEXT_FRAME) ends.push(end - before)
        from = end
      }
      rest = all.subarray(from)
      return ends
    },
  }
}

/** Undefined if the frame is incomplete. A server's frames are not masked. */
function findFrameEnd(bytes: Buffer, from: number): number | undefined {
  if (bytes.length < from + 2) return undefined
  const short = (bytes[from + 1] ?? 0) & 0x7f
  const headBytes = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < from + headBytes) return undefined
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(from + 2)) : short === 126 ? bytes.readUInt16BE(from + 2) : short
  const end = from + headBytes + length
  return end <= bytes.length ? end : undefined
}
