// Server-sent events as JSON values, read with `fetch`: an `EventSource` could not send a token.

/** Cuts a stream of text into the data of events. Feed it pieces of any size. */
export function createEventCutter(): (piece: string) => readonly string[] {
  let rest = ''
  return (piece) => {
    rest += piece
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop() ?? ''
    return blocks.flatMap((block) => {
      const data = block
        .split(/\r?\n/)
        .flatMap((line) => (line.startsWith('data:') ? line.slice(5).replace(/^ /, '') : []))
      return data.length === 0 ? [] : data.join('\n')
    })
  }
}

/** Calls `take` for each event until the stream ends or `signal` aborts. A value that is not JSON is left out. */
export async function readEvents(response: Response, take: (value: unknown) => void): Promise<void> {
  const reader = response.body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  const cut = createEventCutter()
  for (let read = await reader.read(); !read.done; read = await reader.read())
    for (const data of cut(decoder.decode(read.value, { stream: true }))) {
      const value = parse(data)
      if (value !== undefined) take(value)
    }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
