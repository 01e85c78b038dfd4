# Runs the JVM of an embedded Hadoop, and when it has ended, however that came, ends its containers: they outlive it.
# Arguments: the tag, then the java command. Ctrl-C is for the parent, which closes our standard input.
trap '' INT HUP
tag="STELE_EMBEDDED_HADOOP=$1"
shift
exec 3<&0
env "$tag" "$@" <&3 &
java=$!
exec 3<&- </dev/null >/dev/null
trap 'kill -KILL $java' TERM
until wait $java; status=$?; ! kill -0 $java 2>/dev/null; do :; done
if [ -r /proc/self/environ ]; then
  tagged() { grep -lasF "$tag" /proc/[0-9]*/environ | sed 's|/proc/\([0-9]*\)/.*|\1|'; }
else
  tagged() { ps axeww -o pid=,command= | grep -F "$tag" | grep -v grep | sed 's/^ *\([0-9]*\).*/\1/'; }
fi
for round in 1 2 3 4 5 6 7 8 9 10; do
  left=$(tagged)
  [ -n "$left" ] || break
  kill -KILL $left 2>/dev/null
  sleep 0.1
done
exit $status
