// Which connection speaks for a device. The newest one does: an older one of the same name is half open, or a copy of the app.
import type { V2Device } from './v2-device.ts'

interface Holder {
  readonly device: V2Device
  readonly onTaken: () => void
}

export class DeviceNames {
  readonly #holders = new Map<string, Holder>()

  /** `onTaken` is called when another connection takes the name. The function that gives it back is returned. */
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

  /** The device of this name whose connection lives. */
  find(session: string, name: string): V2Device | undefined {
    return this.#holders.get(createKey(session, name))?.device
  }
}

function createKey(session: string, name: string): string {
  return JSON.stringify([session, name])
}
