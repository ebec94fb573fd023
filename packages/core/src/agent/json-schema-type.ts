// The type of the values that a literal JSON Schema describes. Supports what tools use: types, objects, arrays,
// constants, enums and alternatives; anything else is any JSON value.
import type { JsonObject, JsonValue } from '../json.ts'

/** `{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }` is `{ city: string }`. */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Part)[] }
      ? FromJsonSchema<Part>
      : S extends { readonly oneOf: readonly (infer Part)[] }
        ? FromJsonSchema<Part>
        : S extends { readonly type: infer Type }
          ? FromType<Type extends readonly (infer One)[] ? One : Type, S>
          : JsonValue

type FromType<Type, S> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? FromArray<S>
          : Type extends 'object'
            ? FromObject<S>
            : JsonValue

type FromArray<S> = S extends { readonly items: infer Item } ? FromJsonSchema<Item>[] : JsonValue[]

type FromObject<S> = S extends { readonly properties: infer Properties }
  ? FromProperties<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
  : S extends { readonly additionalProperties: infer Value extends JsonObject }
    ? { [name: string]: FromJsonSchema<Value> }
    : JsonObject

type FromProperties<Properties, Required> = Flat<
  { -readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<Properties[Name]> } & {
    -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: FromJsonSchema<Properties[Name]>
  }
>

/** Flattens a type for readable editor hints. */
type Flat<T> = { [Name in keyof T]: T[Name] }
