/** Some numbers, as small bars: the last one is now. */
export function Sparkline({
  values,
  label,
  width = 120,
  height = 28,
}: {
  values: number[];
  label: string;
  width?: number;
  height?: number;
}) {
  const most = Math.max(1, ...values);
  const step = width / Math.max(1, values.length);
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(2, (value / most) * height);
        return (
          <rect
            key={index}
            class={value === 0 ? "spark-none" : "spark-bar"}
            x={(index * step + 0.75).toFixed(2)}
            y={(height - tall).toFixed(2)}
            width={(step - 1.5).toFixed(2)}
            height={tall.toFixed(2)}
            rx="1"
          />
        );
      })}
    </svg>
  );
}
