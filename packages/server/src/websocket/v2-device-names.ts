// Which connection speaks for a device: the newest one. An older one of the same name is half open, or a copy of the
// app.
import type { V2Device } from './v2-device.ts'

interface Holder {
  readonly device: V2Device
  readonly onTaken: () => void
}

export class DeviceNames {
  readonly #holders = new Map<string, Holder>()

  /** Takes the name; `onTaken` is called when another connection takes it. The returned function releases it. */
  take(session: string, device: V2Device, onTaken: () => void): () => void {
    const key = createKey(session, device.name)
    const before = this.#holders.get(key)
    const holder: Holder = { device, onTaken }
    this.#holders.set(key, holder)
    before?.onTaken()
    return () => {
      if (this.#holders.get(key) === holder) this.#holders.delete(key)
    }
  }

  /** The device of this name with a live connection. */
  find(session: string, name: string): V2Device | undefined {
    return this.#holders.get(createKey(session, name))?.device
  }
}

function createKey(session: string, name: string): string {
  return JSON.stringify([session, name])
}
