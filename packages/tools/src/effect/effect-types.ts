// Types for values of Effect 3 and Effect 4: the requirements and results of an Effect, and the services of a Layer.
// Each version uses a different key, so these types look under every key.

/** An Effect schema that decodes to `Type`. */
export interface EffectSchema {
  readonly Type: unknown
  readonly Encoded: unknown
  readonly ast: unknown
}

/** A tag for a service of type `Service`. */
export interface ServiceTag<Service> {
  readonly key: string
  readonly Identifier: unknown
  readonly Service: Service
}

/** The services that an Effect needs. */
export type RequiredBy<Effect> = {
  [Key in keyof Effect]-?: Effect[Key] extends { readonly _A: unknown; readonly _R: (_: never) => infer Services }
    ? Services
    : never
}[keyof Effect]

/** The success type of an Effect. */
export type SuccessOf<Effect> = {
  [Key in keyof Effect]-?: Effect[Key] extends { readonly _A: (_: never) => infer Success; readonly _R: unknown }
    ? Success
    : never
}[keyof Effect]

/** The services that a Layer or a ManagedRuntime provides. */
export type ProvidedBy<Source> = Source extends {
  readonly runPromise: (effect: infer Effect, ...rest: never[]) => unknown
}
  ? RequiredBy<Effect>
  : {
      [Key in keyof Source]-?: Source[Key] extends { readonly _ROut: (_: infer Services) => void } ? Services : never
    }[keyof Source]

/** The services that a Layer needs itself before it can be built. */
export type NeededByLayer<Layer> = Layer extends object
  ? {
      [Key in keyof Layer]-?: Layer[Key] extends {
        readonly _RIn: (_: never) => infer Services
        readonly _ROut: unknown
      }
        ? Services
        : never
    }[keyof Layer]
  : never

/** The services that the tools of a toolkit declare as their `dependencies`. */
export type RequiredByTools<Toolkit> = Toolkit extends { readonly tools: infer Tools }
  ? { [Name in keyof Tools]: RequiredByTool<Tools[Name]> }[keyof Tools]
  : never

type RequiredByTool<Tool> = {
  [Key in keyof Tool]-?: Tool[Key] extends { readonly _Requirements: (_: never) => infer Services } ? Services : never
}[keyof Tool]

/** Reports in the compiler's message that the layer itself is incomplete. Layers of type `any` cannot be checked. */
export type Closed<Needed> = [Needed] extends [never]
  ? unknown
  : 0 extends Needed & 1
    ? unknown
    : { readonly 'services that the layer itself needs; Layer.provide supplies them': Needed }

/** Names the missing services in the compiler's message. */
export type Provided<Needed, Given> = [Needed] extends [Given]
  ? unknown
  : { readonly 'services missing from the layer': Exclude<Needed, Given> }
