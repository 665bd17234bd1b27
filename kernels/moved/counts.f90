! Counts in a small array of the frame, set to zero by vectors: they are what the cells begin with.
program counts
  implicit none
  integer, parameter :: n = 60
  integer :: i, j, m, cnt(10)
  real(8) :: c(n, n)
  do j = 1, n
    do i = 1, n
      c(i, j) = mod(i * 7 + j * 3, 101)
    end do
  end do
  cnt = 0
  do j = 1, n  ! loop: verdict reduction unknown; at -O0 verdict reduction; at -O2 verdict reduction; needs \+:cnt
    do i = 1, n  ! loop: verdict reduction unknown; at -O0 verdict reduction; at -O2 verdict reduction
      m = mod(int(c(i, j)), 10) + 1
      cnt(m) = cnt(m) + 1
    end do
  end do
  print '(10i6)', cnt
end program
