// segments.tsx - a segmented control. It consists of radio buttons, so that arrow keys and screen
// readers work.

interface Props<T extends string | number> {
  label: string;
  name: string;
  options: readonly { value: T; text: string }[];
  value: T;
  onChange: (value: T) => void;
}

export function Segments<T extends string | number>(props: Props<T>) {
  return (
    <fieldset class="segments">
      <legend>{props.label}</legend>
      {props.options.map(({ value, text }) => (
        <label key={value} class={value === props.value ? "is-chosen" : undefined}>
          <input
            type="radio"
            name={props.name}
            checked={value === props.value}
            onChange={() => props.onChange(value)}
          />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
