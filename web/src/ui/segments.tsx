/** One of a few, side by side. */
export function Segments<K extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: K;
  options: Record<K, string>;
  onChange: (value: K) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {(Object.entries(options) as [K, string][]).map(([key, title]) => (
        <button
          key={key}
          type="button"
          class="segment"
          aria-pressed={key === value}
          onClick={() => onChange(key)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
