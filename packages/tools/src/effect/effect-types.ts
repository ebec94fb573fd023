// Types of values of Effect 3 and of Effect 4: the needs and results of an Effect, and the services of a Layer. Each
// version keeps it under its own key, so these types look under every key.

/** A schema of Effect: `Type` is what it decodes to. */
export interface EffectSchema {
  readonly Type: unknown
  readonly Encoded: unknown
  readonly ast: unknown
}

/** A tag of a service, whose service is `Service`. */
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

/** Says in the compiler's message that the layer itself is not complete. Of a layer of type `any` the compiler knows nothing. */
export type Closed<Needed> = [Needed] extends [never]
  ? unknown
  : 0 extends Needed & 1
    ? unknown
    : { readonly 'services that the layer itself needs; Layer.provide gives them': Needed }

/** Names the missing services in the compiler's message. */
export type Provided<Needed, Given> = [Needed] extends [Given]
  ? unknown
  : { readonly 'services that are missing in the layer': Exclude<Needed, Given> }
