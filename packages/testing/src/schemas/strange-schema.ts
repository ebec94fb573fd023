// A schema as a stranger writes it, with arguments that show how it must be read.
import type { JsonObject } from '@baton/core'

export interface StrangeSchema {
  readonly input: JsonObject
  /** Arguments that the author of the schema means to allow. */
  readonly right: readonly JsonObject[]
  /** Arguments that are invalid in any reading; absent if all are valid. */
  readonly wrong?: readonly JsonObject[]
  /** Warning when the tool is defined; absent if there is none. */
  readonly told?: string
}
