// The connection of a version 1 app, as a small interface, and the platform's WebSocket behind it.

export interface V1Socket {
  /** Resolves when the connection is established. @throws Error if it fails */
  readonly opened: Promise<void>
  send(text: string): void
  onText(listener: (text: string) => void): void
  onClose(listener: (why: string) => void): void
  close(): void
}

export function openPlatformSocket(url: string): V1Socket {
  const socket = new WebSocket(url)
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)), { once: true })
  })
  return {
    opened,
    send: (text) => socket.send(text),
    onText: (listener) => socket.addEventListener('message', ({ data }) => listener(String(data))),
    onClose: (listener) => socket.addEventListener('close', ({ code, reason }) => listener(`${code} ${reason}`)),
    close: () => socket.close(),
  }
}
